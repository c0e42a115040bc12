"""What all tests share."""

from hypothesis import settings

# A busy machine is not a fault of the code.
settings.register_profile("tidemark", deadline=None, database=None)
settings.load_profile("tidemark")
