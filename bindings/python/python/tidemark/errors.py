"""Exceptions of the package."""


class ScenarioError(ValueError):
    """A scenario that can't be used. The message says what is wrong, and what would be right.

    >>> import tidemark
    >>> try:
    ...     tidemark.run('name = "x"\\nduration = "-1 s"\\n')
    ... except tidemark.ScenarioError as error:
    ...     print(error.line, error.key)
    2 duration
    """

    file: str | None
    """Name of the scenario's file; None where the scenario is no file."""
    line: int | None
    """Line of the fault, from 1; None where the scenario was not a text, or where no line is known."""
    key: str | None
    """Path of the field at fault, such as `ue.0.rlc.queue_sdus`; None where no field is known."""

    def __init__(self, message: str, file: str | None = None, line: int | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.file, self.line, self.key = file, line, key

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.file, self.line, self.key)


class StudyError(ValueError):
    """A study that can't be used, or that does not come to its end. Runs that were made are kept in its folder."""
