"""The stream architecture: a pipeline that begins a residue polynomial product every N/w cycles."""
