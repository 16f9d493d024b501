package offline

import "strings"

// Verbs that tell a relation between two names, regular ones by their base
// form, of irregular ones every form. Written for this project.
const (
	regularVerbs = `abandon absorb accept accompany accuse acquire adapt address admire adopt advise advocate allow analyse announce appear appoint approach
		approve arrest arrive assassinate assist attack attend back base belong border brand call capture cause challenge chair claim close
		coach collaborate collect command commission compete complete compose conclude condemn conduct connect conquer consider consist contain
		control convert cooperate cover create cross criticise criticize crown declare decline dedicate defeat defend deliver deny
		depend describe design destroy develop die direct discover dismiss divorce dominate donate edit educate elect embed employ endorse enter
		establish evolve exhibit expand explain explore exploit export extend feature finance finish fire follow force form found
		fund generate govern graduate guide handle head help hire host identify implement import include incorporate influence inform inherit
		inspire install integrate interview introduce invade invent invest invite involve issue join kill land last launch lecture
		license list live locate love maintain manage manufacture marry mention merge migrate mentor move murder name negotiate nominate
		observe occupy offer open operate oppose order organise organize oversee own paint perform persuade place plan play portray practise
		praise preach prepare present preserve preside process produce promote propose protect provide publish purchase reach receive
		recognise recognize recommend record recruit refer reform reject relate release relocate remain remove rename replace report represent
		require rescue reside resign restore retire return reveal reverse review revise rule sack search serve settle share ship show
		sign star start state stay store study succeed suggest supervise supply support surrender target test tour trade train
		transfer translate travel treat trust unite update use visit volunteer vote wait want watch witness work`
	irregularVerbs = `met meets became becomes began begins beat beats bought buys built builds came comes drew draws drove drives fell falls fought fights flew
		flies gave gives given got grew grows held holds kept keeps knew knows known leads led left leaves lost loses made makes paid pays ran runs
		sang sings sung sat saw sees seen sells sold sends sent set sets shot shoots sought speaks spoke spent spends stood stands sues sued swam
		takes taken took taught teaches thinks thought tells told threw throws understood wed wins won wore wrote writes written bears born bore
		broke breaks broken chose chooses chosen lies lay rose rises read reads cut cuts hit hits put puts drank ate eats hid went goes lends
		needs speaks overthrew overthrown succeeded outran withdrew`
)

// verbForms lists every form that counts as a verb.
func verbForms() map[string]bool {
	out := wordSet(irregularVerbs)
	for _, v := range strings.Fields(regularVerbs) {
		last := v[len(v)-1]
		consonantY := last == 'y' && !strings.ContainsRune("aeiou", rune(v[len(v)-2]))
		switch {
		case last == 'e':
			out[v+"s"], out[v+"d"] = true, true
		case consonantY:
			out[v[:len(v)-1]+"ies"], out[v[:len(v)-1]+"ied"] = true, true
		case last == 's' || last == 'x' || strings.HasSuffix(v, "sh") || strings.HasSuffix(v, "ch"):
			out[v+"es"], out[v+"ed"] = true, true
		default:
			out[v+"s"], out[v+"ed"] = true, true
		}
	}
	for _, doubled := range strings.Fields("admitted controlled embedded referred starred transferred shipped stopped planned banned") {
		out[doubled] = true
	}
	return out
}

// Nouns that tell a relation together with "of" and its like.
const roleNouns = `actor actress adviser advisor ally ambassador archbishop architect aunt author bishop brother capital captain ceo chair chairman
	chancellor chief child coach cofounder co-founder colony commander composer conductor cousin creator cto daughter dean designer developer director disciple
	district duke editor emperor empress engineer executive father fellow founder friend general governor grandfather grandson head headquarters heir husband
	inventor king leader manager mayor member minister mother neighbour neighbor nephew niece officer owner parent part partner patron
	president prince princess principal producer professor pupil queen rector rival ruler secretary senator sister son spokesman
	student subsidiary suburb successor teacher tributary uncle vice-president widow wife writer`
