package facts

import (
	"slices"

	"github.com/tenantgate/tenantgate/policy/sql/tree"
)

// Rewritten is a final text before it is proved. Parameter $i+1 of Text takes Params[i].
type Rewritten struct {
	Text   string
	Params []FinalParam
	Stars  map[int]int // offset of each spelled-out * in the source → entries that it became
	Pieces []Piece
}

// FinalParam is what a parameter of the final text carries: the caller's placeholder of
// that number; a literal of the text; or, where Number is 0 and Literal nil, the server's id
// as the scope column's type.
type FinalParam struct {
	Number  int32
	Type    tree.TypeName
	Literal *LiteralParam
}

// IsServer tells whether the parameter carries the server's id.
func (p FinalParam) IsServer() bool { return p.Number == 0 && p.Literal == nil }

// Piece is a run of the source that stands unchanged in the final text.
type Piece struct{ Final, Source, Length int }

// Offset maps a byte offset of Text to one of the translated text; false where the
// byte was put there by the rewrite.
func (r *Rewritten) Offset(final int) (int, bool) {
	i, found := slices.BinarySearchFunc(r.Pieces, final, func(p Piece, at int) int { return p.Final - at })
	if !found {
		i--
	}
	if i < 0 || final >= r.Pieces[i].Final+r.Pieces[i].Length {
		return 0, false
	}
	return r.Pieces[i].Source + final - r.Pieces[i].Final, true
}
