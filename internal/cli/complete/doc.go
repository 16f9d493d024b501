// Package complete completes command lines in bash, zsh and fish. The scripts
// are small and the same for every program: on each Tab they ask the program
// itself, so that what is offered is what this build takes.
package complete
