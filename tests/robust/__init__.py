"""Robustness to any argument, interrupt, damage or installation: every public function with wrong arguments."""
