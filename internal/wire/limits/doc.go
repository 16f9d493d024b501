// Package limits follows what operators grant to single tenants in the limits
// bucket while a fleet runs.
package limits
