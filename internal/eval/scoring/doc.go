// Package scoring compares what a provider finds with what should be found.
//
// Every figure is a precision, a recall and their harmonic mean (F1), over
// counts summed across documents:
//
//   - names: the set of different spellings in a document. Each spelling of an
//     entity counts, so an extractor that merges "Lovelace" into "Ada Lovelace"
//     loses recall here.
//   - entities: an answer is right if it is any spelling of an entity, and an
//     entity is found if any of its spellings was answered. This is the fair
//     measure for whoever merges spellings.
//   - relations: pairs of entities, in either direction and whatever the type is
//     called; an answer between two things that gold does not relate is wrong,
//     true as it may be.
//
// Typed figures ask for the type as well. Only answers of the types that the
// gold data mark are judged: nobody is blamed for a date where dates were not
// marked.
package scoring
