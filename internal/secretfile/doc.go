// Package secretfile reads secrets from files, the way that Docker and Kubernetes
// hand them to a process: one secret in a file, which whoever rotates it replaces.
package secretfile
