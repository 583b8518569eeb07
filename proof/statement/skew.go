package statement

import (
	"fmt"
	"math/rand/v2"
)

// The rows of the databases D and D' of mode order: skewed, so that the planner's statistics
// matter. A value of every column comes in a pair of equal length, one of each side. The
// others' rows of D hold one side often, those of D' the other, and in the place of one cluster
// of values another. Nothing else differs. The server's own rows hold both sides.

// Side is one of a pair of values.
type Side uint8

// The sides: those of D, and of D'.
const (
	Kestrel Side = iota
	Martlet
)

func (s Side) other() Side { return 1 - s }

// Own is how many rows the server has of a table in D and D', and Others how many the others
// have. Of some tables the server has about half, so that it can plant common values.
func (t *Table) Own() int {
	switch {
	case t.ScopeType == "":
		return 20
	case t.Name == "profiles", t.Name == "Tag List", t.Name == "orders":
		return 400
	case t.Name == "messages", t.Name == "events", t.Name == "notes":
		return 60
	}
	return 20
}

// Others is a multiple of 30: three servers, and the ten slots of skewed.
func (t *Table) Others() int {
	switch {
	case t.Own() == 400:
		return 420
	case t.Name == "conversations", t.Name == "items":
		return 90
	}
	return 900
}

// OthersValue is the value of the column with index k in the others' i-th row; null says that
// it is NULL. The row belongs to the other server with the number i % 3.
func OthersValue(t *Table, k, i int, side Side) (value string, null bool) {
	c, u := &t.Columns[k], i/3
	switch slot := (u + 3*k) % 10; {
	case c.Kind == ID:
		if u%10 < 4 {
			return pairedKey(c, i, side), false
		}
		return farKey(c, t, i), false
	case c.Kind == Ref:
		parent := tableOf(c.To)
		j := i % 3
		if slot > 2 {
			j += 3 * (u * 7 % (parent.Others() / 3))
		}
		if c.Null && slot == 9 {
			return "", true
		}
		return OthersValue(parent, parent.keyColumn(), j, side)
	case c.ascends():
		if side == Martlet && u < t.Others()/3 { // 11 divides no number of rows: in D' they are as if shuffled
			u = u * 11 % (t.Others() / 3)
		}
		return ascending(c, u), false
	case c.Kind == Flag && slot < 8:
		return Paired(c, 0, side), c.Null && slot == 5
	case c.Kind == Flag:
		return Paired(c, 0, side.other()), false
	case slot < 3:
		return Paired(c, 0, side), false
	case slot < 5:
		return Sample(t, c, 0), false
	case slot < 8:
		return Paired(c, 1+u*13%40, side), false
	case slot == 9 && c.Null:
		return "", true
	}
	return Sample(t, c, u), false
}

// OwnValue is the same of the server's own i-th row. It holds both sides of every pair that it
// holds one of, so that D and D' have as many different values.
func OwnValue(t *Table, k, i int) (value string, null bool) {
	c := &t.Columns[k]
	if c.Kind == Ref {
		parent := tableOf(c.To)
		if c.Null && i%10 == 3 {
			return "", true
		}
		return OwnValue(parent, parent.keyColumn(), i%parent.Own())
	}
	switch slot := i % 10; {
	case c.Kind == ID && slot == 2:
		return pairedKey(c, i+1, Kestrel), false
	case c.Kind == ID && slot == 7:
		return pairedKey(c, i-4, Martlet), false
	case c.Kind == ID:
		return key(c, t, i), false
	case slot == 3 && c.Null:
		return "", true
	case slot == 0, slot == 4, slot == 8:
		return Paired(c, 0, Kestrel), false
	case slot == 5:
		return Paired(c, 0, Martlet), false
	case slot == 2:
		return Paired(c, 1+i/10%5, Kestrel), false
	case slot == 7:
		return Paired(c, 1+i/10%5, Martlet), false
	}
	return Sample(t, c, i), false
}

// ascends tells the columns whose values go up in the order of D's rows, and up and down in D'.
func (c *Column) ascends() bool {
	return c.Name == "updated_at" || c.Name == "placed" || c.Name == "size_bytes"
}

func ascending(c *Column, u int) string {
	if c.Type == Time {
		return fmt.Sprintf("2023-%02d-%02d 0%d:00:00+00", 1+u/28%12, 1+u%28, u/336)
	}
	return fmt.Sprint(200000 + 37*u)
}

// Paired is the n-th value of a side of a column: 0 is the common one, the others are a cluster
// that no value of the other side lies in.
func Paired(c *Column, n int, side Side) string {
	word, digit, year := "Kestrel", 4, 2027
	if side == Martlet {
		word, digit, year = "Martlet", 8, 2031
	}
	number := fmt.Sprintf("%d%03d", digit, n)
	switch c.Kind {
	case Name:
		return word + " " + number
	case Digits, Small, Large:
		return number
	case Day, When:
		return fmt.Sprintf("%d-%02d-%02d", year, 1+n/28, 1+n%28)
	case Moment:
		return fmt.Sprintf("%d-%02d-%02d 12:30:00+00", year, 1+n/28, 1+n%28)
	case Mark:
		return word[:1]
	case Document:
		return fmt.Sprintf(`{"n": %s}`, number)
	case Amount:
		return number + ".50"
	case Flag:
		return []string{"true", "false"}[side]
	case Object:
		return fmt.Sprintf(`{"n": %s, "s": "%s %d", "a": [1, %s], "on": true}`, number, word, n, number)
	case Words:
		return fmt.Sprintf("{%s%d,red}", word, n)
	case Numbers:
		return fmt.Sprintf("{%s,2,3}", number)
	case Octets:
		return fmt.Sprintf(`\x%x`, word+number)
	case Token128:
		return fmt.Sprintf("%[1]d0000000-0000-4000-8000-%012[2]x", digit, n)
	case Weight:
		return number + ".5"
	case Code:
		return word[:1] + number
	}
	return ""
}

// pairedKey is a key of a side, far from the other side's.
func pairedKey(c *Column, i int, side Side) string {
	if c.Type != Text {
		return fmt.Sprint([]int{40000, 80000}[side] + i)
	}
	return fmt.Sprintf("%s-%05d", []string{"kestrel", "martlet"}[side], i)
}

func farKey(c *Column, t *Table, i int) string {
	if c.Type != Text {
		return fmt.Sprint(60000 + i)
	}
	return fmt.Sprintf("%s-%05d", prefix(c, t), i)
}

func tableOf(name string) *Table {
	for _, t := range Tables() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (t *Table) keyColumn() int {
	for k := range t.Columns {
		if t.Columns[k].Kind == ID {
			return k
		}
	}
	return -1
}

// probe gives a value with which a statement could ask which side the others hold: of either
// side, the bounds of a cluster, or one that tells nothing.
func probe(t *Table, c *Column, r *rand.Rand) string {
	side := Side(r.IntN(2)) //nolint:gosec // 0 or 1
	switch n := r.IntN(100); {
	case c.Kind == ID || c.Kind == Ref:
		switch {
		case n < 35:
			return pairedKey(c, r.IntN(30), side)
		case n < 50 && c.Type == Text:
			return []string{"kestrel", "martlet"}[side]
		}
		return key(c, t, r.IntN(20))
	case c.ascends() && n < 60:
		return ascending(c, r.IntN(300))
	case n < 50:
		return Paired(c, 0, side)
	case n < 70:
		return Paired(c, []int{1, 41, 1 + r.IntN(40)}[r.IntN(3)], side)
	}
	return Sample(t, c, r.IntN(20))
}
