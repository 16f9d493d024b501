package statuspage

// ConfigError is an argument that the page cannot be made with.
type ConfigError struct {
	Field   string
	Problem string
}

func (e *ConfigError) Error() string { return "statuspage: " + e.Field + " " + e.Problem }

// RefusedError is an order that cannot be carried out as it stands. Its text is for
// the person who gave it.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }
