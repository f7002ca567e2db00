"""What is around a handler: middleware, dependencies, and decorators that supply arguments."""
