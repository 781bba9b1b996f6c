"""The world of raw arrays: plugins, backends, devices, kernels, transfer. Nothing here knows of gradients."""
