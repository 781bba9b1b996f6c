"""What must hold whatever is passed, interrupted, damaged or installed: every public function with wrong arguments."""
