"""Observation of the graph: function hooks, debug mode, and the detection of anomalies and of mutations."""
