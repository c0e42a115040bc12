"""Exceptions of the package."""


class ScenarioError(ValueError):
    """A scenario that can't be used. The message says what is wrong and how to correct it.

    >>> import tidemark
    >>> try:
    ...     tidemark.run('name = "x"\\nduration = "-1 s"\\n')
    ... except tidemark.ScenarioError as error:
    ...     print(error.line, error.key)
    2 duration
    """

    file: str | None
    """Name of the scenario's file; None if the scenario is not a file."""
    line: int | None
    """Line of the error, from 1; None if the scenario was not a text, or the line is unknown."""
    key: str | None
    """Path of the field at fault, such as `ue.0.rlc.queue_sdus`; None if unknown."""

    def __init__(self, message: str, file: str | None = None, line: int | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.file, self.line, self.key = file, line, key

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.file, self.line, self.key)


class StudyError(ValueError):
    """A study that can't be used or completed. Finished runs are kept in its folder."""
