"""The planner as an HTTP service, with a page to view and edit problems and routes. Needs FastAPI and uvicorn."""
