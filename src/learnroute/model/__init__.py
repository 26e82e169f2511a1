"""The data model: problems, plans, learners, objectives and certificates."""
