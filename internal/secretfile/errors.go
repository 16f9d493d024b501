package secretfile

// Error says why a file does not do as a secret. It quotes nothing of what is in
// the file.
type Error struct {
	Path    string
	Problem string
	Err     error // of the operating system; nil if the content is the problem
}

func (e *Error) Error() string { return e.Path + ": " + e.Problem }
func (e *Error) Unwrap() error { return e.Err }
