"""What a Variable does besides being differentiated: it converts, copies, prints and moves itself."""
