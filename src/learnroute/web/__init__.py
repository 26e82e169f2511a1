"""The planner over HTTP, and a page to look at routes and move things. Needs FastAPI and uvicorn."""
