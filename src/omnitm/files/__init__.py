"""Files that a crash, a forgery or a full disk cannot change unnoticed; nothing here knows what they hold."""
