// Package screen shows text that changes on a whole terminal, and hears its keys.
//
// Off a terminal there is no screen: its callers write plain lines there. The
// sequences are those that every terminal of the last thirty years knows, so no
// terminal database is asked.
package screen
