"""System checks that tell an administrator what is wrong before anybody meets it."""
