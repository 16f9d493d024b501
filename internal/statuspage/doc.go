// Package statuspage serves a page on which an engineer sees a fleet and, with a
// token, steers it:
//
//	GET  /                     the page; its files are in the binary and load nothing else
//	GET  /api/fleet            the fleet now, read at most every two seconds for all viewers together
//	GET  /api/history          what is remembered of the last hour
//	GET  /api/letters          the newest dead letters
//	POST /api/pause and others orders of an operator, see [Operator]
//
// Nothing is read while nobody asks. Everything that comes from NATS is somebody
// else's text: it leaves as JSON, and the page shows it as text only, under a policy
// that lets no other script run.
//
// Who may: orders need the token, as a bearer header, which no other site can make a
// browser send. On the loopback interface everybody on the machine may look, and
// only by a name of the loopback interface, so that a site whose name has been
// pointed there (DNS rebinding) sees nothing. On any other address looking needs the
// token too, because the answers have the tenants' names.
package statuspage
