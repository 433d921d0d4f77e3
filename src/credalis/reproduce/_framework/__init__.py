"""What runs, keeps and shows experiments; it imports none of them."""
