"""The one document of a job, the same JSON in stores, API, YAML and command line."""

from __future__ import annotations

from tickwell.domain.document.job import document_of, job_from_document, job_to_document

__all__ = ["document_of", "job_from_document", "job_to_document"]
