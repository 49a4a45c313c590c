"""What tests of several topics share."""
