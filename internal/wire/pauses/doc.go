// Package pauses follows what operators have paused, a tenant or the whole fleet,
// in the pause bucket while a fleet runs. A pause always has an end, and the
// server's clock says when that is: a machine whose clock is wrong neither ends
// one early nor late.
package pauses
