package main

import (
	"unicode"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

var taggerTypes = map[string]tagger.Type{
	"person": tagger.Person, "organization": tagger.Organization, "location": tagger.Location, "date": tagger.Date,
	"number": tagger.Number, "work": tagger.Work, "event": tagger.Event, "product": tagger.Product, "other": tagger.Other,
}

// example puts a document's mentions on our own tokens. lost counts those
// whose edges fall inside a token or that cross a sentence.
func example(d gold.Document) (e tagger.Example, names, lost int) {
	e = tagger.Example{Text: d.Text, Sentences: prose.Split(d.Text)}
	e.Names = make([][]tagger.Mention, len(e.Sentences))
	next := 0
	for i, s := range e.Sentences {
		for next < len(d.Mentions) && d.Mentions[next].Start < s.End() {
			m := d.Mentions[next]
			next++
			typ, ok := mentionType(d.Text, m)
			if !ok {
				continue
			}
			from, to := -1, -1
			for j, t := range s.Tokens {
				if t.Start == m.Start {
					from = j
				}
				if t.End == m.End {
					to = j + 1
				}
			}
			names++
			if from < 0 || to <= from {
				lost++
				continue
			}
			e.Names[i] = append(e.Names[i], tagger.Mention{From: from, To: to, Type: typ})
		}
	}
	return e, names, lost
}

// mentionType says what a mention teaches. The concepts of CrossNER (text
// mining, jazz) are names only where they are written like one.
func mentionType(text string, m gold.Mention) (tagger.Type, bool) {
	if t, ok := taggerTypes[m.Type]; ok {
		return t, true
	}
	for _, r := range text[m.Start:m.End] {
		return tagger.Other, unicode.IsUpper(r)
	}
	return tagger.Other, false
}

// works and events are relations that tell what a Re-DocRED entity of the type
// MISC is: those whose source is a work, and those whose source or target is
// an event. Property ids stand for the relations that rel_info.json lacks.
var (
	workSources = set("performer", "P577", "record label", "cast member", "P161", "director", "author", "P50", "screenwriter", "composer",
		"publisher", "characters", "P674", "producer", "P162", "original network", "genre", "P179", "lyrics by", "P676")
	workTargets  = set("notable work", "P1441", "present in work")
	eventSources = set("participant", "P710")
	eventTargets = set("participant of", "conflict", "P607")
	toolSources  = set("developer", "P400", "platform", "manufacturer")
)

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// refine splits the type MISC of Re-DocRED into work, event, product and other
// by what the relations say of the entity.
func refine(docs []gold.Document) {
	for i := range docs {
		d := &docs[i]
		types := map[string]string{}
		for _, r := range d.Relationships {
			if toolSources[r.Type] && types[r.Source] == "" {
				types[r.Source] = "product"
			}
		}
		for _, r := range d.Relationships {
			if workSources[r.Type] {
				types[r.Source] = "work"
			}
			if workTargets[r.Type] {
				types[r.Target] = "work"
			}
			if eventSources[r.Type] {
				types[r.Source] = "event"
			}
			if eventTargets[r.Type] {
				types[r.Target] = "event"
			}
		}
		for j := range d.Mentions {
			m := &d.Mentions[j]
			if m.Raw == "MISC" {
				if t := types[d.Entities[m.Entity].Name]; t != "" {
					m.Type = t
				}
			}
		}
	}
}
