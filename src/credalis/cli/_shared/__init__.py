"""What commands share: options, tables in, files out, and what is said meanwhile."""
