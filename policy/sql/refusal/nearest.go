package refusal

import (
	"iter"
	"slices"
	"strings"
)

// maxEdits is how many characters of a misspelt name may be wrong, as in Postgres' hints on columns.
const maxEdits = 3

// Nearest gives the names that a misspelt one was likely meant as: those with the least Levenshtein distance from it,
// which is at most maxEdits and at most half of its length. Of these a name with the same letters in another order is
// nearer, and capitals count as small letters. names are pairs of a name and its spelling in SQL, which is what is
// given, once each and in their order. It is none where more than most are as near as each other.
func Nearest(misspelt string, names iter.Seq2[string, string], most int) []string {
	word := []rune(strings.ToLower(misspelt))
	least := 2 * min(maxEdits, len(word)/2)
	var found []string
	for name, spelling := range names {
		other := []rune(strings.ToLower(name))
		far := 2 * distance(word, other, (least+1)/2)
		if far <= least+1 && sameLetters(word, other) {
			far--
		}
		switch {
		case far < least:
			least, found = far, []string{spelling}
		case far == least && len(found) <= most && !slices.Contains(found, spelling):
			found = append(found, spelling)
		}
	}
	if len(found) > most {
		return nil
	}
	return found
}

// sameLetters tells whether two words have the same letters, each as often.
func sameLetters(a, b []rune) bool {
	return len(a) == len(b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// distance is the Levenshtein distance of two words: how many characters must be inserted, deleted or replaced to make
// the one of the other. Of a distance above most it only says that: it looks at that many cells beside the diagonal.
func distance(a, b []rune, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	row := make([]int, len(b)+1) // how far each beginning of b is from what was seen of a
	for j := range row {
		row[j] = j
	}
	for i := range a {
		first, last := max(0, i-most), min(len(b), i+most+1)
		diagonal, left := row[first], most+1
		if first == 0 {
			row[0], left = i+1, i+1
		}
		least := left
		for j := first; j < last; j++ {
			next := min(left, row[j+1]) + 1
			if a[i] == b[j] {
				next = min(next, diagonal)
			}
			next = min(next, diagonal+1)
			diagonal, row[j+1], left = row[j+1], next, next
			least = min(least, next)
		}
		if least > most {
			return most + 1
		}
	}
	return row[len(b)]
}
