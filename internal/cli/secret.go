package cli

import "log/slog"

// Secret is a setting that must not be seen: whatever prints or logs it writes
// "[secret]". Reveal is the only way to the value.
type Secret struct{ value string }

const secretMask = "[secret]"

// NewSecret hides value.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal returns the value itself, to hand to a client and to nothing else.
func (s Secret) Reveal() string { return s.value }

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.value != "" }

// String returns a mask, or nothing if there is no value.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return secretMask
}

// GoString masks %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue masks slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText masks every encoder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the value from a flag, the environment or a file.
func (s *Secret) UnmarshalText(text []byte) error {
	s.value = string(text)
	return nil
}
