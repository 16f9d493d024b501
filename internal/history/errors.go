package history

// ConfigError is an argument that a recorder cannot be made with.
type ConfigError struct {
	Field   string
	Problem string
}

func (e *ConfigError) Error() string { return "history: " + e.Field + " " + e.Problem }
