"""The service under load: throughput and latency by clients, and what it adds to a request."""
