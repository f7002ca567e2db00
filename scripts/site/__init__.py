"""The site of the documentation: the pages of docs/, and references that are generated."""
