"""What ToolDec is compared with: ways to put a free reply right instead of holding the decoder."""
