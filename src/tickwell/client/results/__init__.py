"""What operations answer: documents of the API, typed. Instants are texts in RFC 3339."""
