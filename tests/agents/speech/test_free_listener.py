"""What a user understands of an assistant that speaks as it likes."""
