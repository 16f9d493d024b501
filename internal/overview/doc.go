// Package overview reads how a whole fleet stands: workers, circuits, pauses, dead
// letters, and of every tenant what waits, what it has used of its allowance, and
// until when it waits, and why. It is what the live views show.
//
// It only reads, with the rights that docs/wire.md gives an operator, and nothing has
// to exist. What one [Reader.Read] costs:
//
//   - a request for each of the four streams and four buckets, and for the ledger of
//     the limits; a bucket is read again only if it has changed;
//   - how many messages each tenant has in a queue and among the dead letters, from the
//     server's counts: a request for every 100,000 tenants, no messages;
//   - a request for each of the listed tenants that has chunks waiting, for what is in
//     flight, at most [Config.MaxTenants];
//   - the new entries of the ledger, which are text of a few bytes per call: no more
//     than [natskv.MostSurveyed], or used is not known;
//   - the headers of the newest 1,000 dead letters, if there are new ones;
//   - of the results, their subjects as long as there are no more than 20,000, and else
//     the count of one tenant after the other within 200 ms, the longest unread first,
//     if any were added. Until a tenant's turn has come its count is not known.
package overview
