// Package natsconn opens connections to NATS, and starts a NATS server inside
// the process for those who have none.
package natsconn
