"""What a report says: the result in words, numbers and rows of tables, without HTML."""
