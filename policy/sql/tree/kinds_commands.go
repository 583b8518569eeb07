package tree

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// commanded is the allow-list for what is no statement on rows; see understood for its form.
// The query of DECLARE and COPY is judged apart, as a text of its own.
const commanded = `
RawStmt           stmt stmt_location stmt_len
Node              *
List              items
TransactionStmt   kind=TRANS_STMT_BEGIN|TRANS_STMT_START|TRANS_STMT_COMMIT|TRANS_STMT_ROLLBACK
                  kind=TRANS_STMT_SAVEPOINT|TRANS_STMT_RELEASE|TRANS_STMT_ROLLBACK_TO options savepoint_name chain location
VariableSetStmt   kind=VAR_SET_VALUE|VAR_SET_DEFAULT|VAR_SET_MULTI|VAR_RESET|VAR_RESET_ALL name args is_local
VariableShowStmt  name
DiscardStmt       target=DISCARD_ALL|DISCARD_PLANS|DISCARD_SEQUENCES|DISCARD_TEMP
DeallocateStmt    name isall location
UnlistenStmt      conditionname
DeclareCursorStmt portalname options&0x11f query
FetchStmt         direction=FETCH_FORWARD|FETCH_BACKWARD|FETCH_ABSOLUTE|FETCH_RELATIVE how_many portalname ismove
ClosePortalStmt   portalname
CopyStmt          relation query attlist is_from options
DefElem           defname arg defaction=DEFELEM_UNSPEC location arg_location
RangeVar          schemaname relname inh=true relpersistence=p location
A_Const           ival fval boolval sval location
A_Star
Integer           ival
Float             fval
Boolean           boolval
String            sval
`

// AdmitBeside is admit for all but what stands beneath one message.
func (g *Grammar) AdmitBeside(m proto.Message, apart *pg.Node, depth, at int) *refusal.Refusal {
	if g.nodes++; g.nodes > g.Limit.MaxNodes || depth > g.Limit.MaxDepth {
		return refusal.Unsupported(at, "the statement is too complex")
	}
	at = OffsetOf(m, at)
	if f := g.check(m, at); f != nil {
		return f
	}
	var fault *refusal.Refusal
	Children(m, func(c proto.Message) bool {
		if n, ok := c.(*pg.Node); !ok || apart == nil || n != apart {
			fault = g.AdmitBeside(c, apart, depth+1, at)
		}
		return fault == nil
	})
	return fault
}
