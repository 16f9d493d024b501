//go:build !unix

package process

// Pause is a [ErrUnsupported].
func (p *Process) Pause() error { return ErrUnsupported }

// Resume is a [ErrUnsupported].
func (p *Process) Resume() error { return ErrUnsupported }
