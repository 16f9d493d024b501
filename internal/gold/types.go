package gold

import "strings"

// typeOf maps the types of the known data sets to the ones this project
// speaks of; an unknown type stays as it is, in lower case.
func typeOf(raw string) string {
	switch t := strings.ToLower(raw); t {
	case "per", "person", "politician", "writer", "musicalartist", "scientist", "researcher":
		return "person"
	case "org", "organisation", "organization", "corporation", "group", "politicalparty", "band", "university":
		return "organization"
	case "loc", "location", "country":
		return "location"
	case "time":
		return "date"
	case "num":
		return "number"
	case "book", "album", "song", "poem", "magazine", "academicjournal", "creative-work":
		return "work"
	case "election", "event", "conference":
		return "event"
	case "product", "programlang":
		return "product"
	case "misc", "award":
		return "other"
	default:
		return t
	}
}
