package tree

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tenantgate/tenantgate/policy/sql/refusal"
)

// understood is the allow-list of the grammar: every kind of message that Analyze, Rewrite
// and Verify understand completely, with its fields. A field stands as
//
//	name        it may hold anything: a name, a constant, a place in the text, or further
//	            messages, which are judged by their own kinds
//	name=a|b    it holds one of these
//	name&mask   it holds none but these bits
//	name=null   a list that may also hold an empty entry
//	*           all fields: each holds one message
//
// A field that is not here must be empty, and a value that is not here is refused, as is a
// kind: a new Postgres feature is refused until somebody has thought about it.
const understood = `
RawStmt           stmt stmt_location stmt_len
Node              *
List              items=null

SelectStmt        distinct_clause=null target_list from_clause where_clause group_clause group_distinct having_clause window_clause
                  values_lists sort_clause limit_offset limit_count limit_option=LIMIT_OPTION_DEFAULT|LIMIT_OPTION_COUNT|LIMIT_OPTION_WITH_TIES
                  locking_clause with_clause op=SETOP_NONE|SETOP_UNION|SETOP_INTERSECT|SETOP_EXCEPT all larg rarg
InsertStmt        relation cols select_stmt on_conflict_clause returning_list with_clause override=OVERRIDING_NOT_SET|OVERRIDING_SYSTEM_VALUE|OVERRIDING_USER_VALUE
UpdateStmt        relation target_list where_clause from_clause returning_list with_clause
DeleteStmt        relation using_clause where_clause returning_list with_clause
WithClause        ctes recursive location
CommonTableExpr   ctename aliascolnames ctematerialized=CTEMaterializeDefault|CTEMaterializeAlways|CTEMaterializeNever ctequery location
OnConflictClause  action=ONCONFLICT_NOTHING|ONCONFLICT_UPDATE infer target_list where_clause location
InferClause       index_elems where_clause conname location
IndexElem         name expr collation ordering=SORTBY_DEFAULT nulls_ordering=SORTBY_NULLS_DEFAULT
ResTarget         name indirection val location
MultiAssignRef    source colno ncolumns
SetToDefault      location
LockingClause     locked_rels strength=LCS_FORKEYSHARE|LCS_FORSHARE|LCS_FORNOKEYUPDATE|LCS_FORUPDATE wait_policy=LockWaitBlock|LockWaitSkip|LockWaitError

RangeVar          schemaname relname inh=true relpersistence=p alias location
RangeSubselect    lateral subquery alias
RangeFunction     lateral ordinality is_rowsfrom functions alias coldeflist
JoinExpr          jointype=JOIN_INNER|JOIN_LEFT|JOIN_FULL|JOIN_RIGHT is_natural larg rarg using_clause join_using_alias quals alias
Alias             aliasname colnames
ColumnDef         colname type_name is_local=true coll_clause location

ColumnRef         fields location
ParamRef          number location
A_Star
A_Indices         is_slice lidx uidx
A_Indirection     arg indirection
A_Const           ival fval boolval sval bsval isnull location
Integer           ival
Float             fval
Boolean           boolval
String            sval
BitString         bsval

A_Expr            kind=AEXPR_OP|AEXPR_OP_ANY|AEXPR_OP_ALL|AEXPR_DISTINCT|AEXPR_NOT_DISTINCT|AEXPR_NULLIF|AEXPR_IN|AEXPR_LIKE|AEXPR_ILIKE|AEXPR_SIMILAR
                  kind=AEXPR_BETWEEN|AEXPR_NOT_BETWEEN|AEXPR_BETWEEN_SYM|AEXPR_NOT_BETWEEN_SYM name lexpr rexpr location
BoolExpr          boolop=AND_EXPR|OR_EXPR|NOT_EXPR args location
NullTest          arg nulltesttype=IS_NULL|IS_NOT_NULL location
BooleanTest       arg booltesttype=IS_TRUE|IS_NOT_TRUE|IS_FALSE|IS_NOT_FALSE|IS_UNKNOWN|IS_NOT_UNKNOWN location
SubLink           sub_link_type=EXISTS_SUBLINK|ALL_SUBLINK|ANY_SUBLINK|EXPR_SUBLINK|ARRAY_SUBLINK testexpr oper_name subselect location
A_ArrayExpr       elements location
RowExpr           args row_format=COERCE_EXPLICIT_CALL|COERCE_IMPLICIT_CAST location
CaseExpr          arg args defresult location
CaseWhen          expr result location
CoalesceExpr      args location
MinMaxExpr        op=IS_GREATEST|IS_LEAST args location
SQLValueFunction  op=SVFOP_CURRENT_DATE|SVFOP_CURRENT_TIME|SVFOP_CURRENT_TIME_N|SVFOP_CURRENT_TIMESTAMP|SVFOP_CURRENT_TIMESTAMP_N
                  op=SVFOP_LOCALTIME|SVFOP_LOCALTIME_N|SVFOP_LOCALTIMESTAMP|SVFOP_LOCALTIMESTAMP_N typmod location
CollateClause     arg collname location
TypeCast          arg type_name location
TypeName          names typmods typemod=-1 array_bounds location

FuncCall          funcname args agg_order agg_filter over agg_within_group agg_star agg_distinct func_variadic
                  funcformat=COERCE_EXPLICIT_CALL|COERCE_SQL_SYNTAX location
NamedArgExpr      arg name argnumber=-1 location
WindowDef         name refname partition_clause order_clause frame_options&0x3ff3f start_offset end_offset location
SortBy            node sortby_dir=SORTBY_DEFAULT|SORTBY_ASC|SORTBY_DESC|SORTBY_USING sortby_nulls=SORTBY_NULLS_DEFAULT|SORTBY_NULLS_FIRST|SORTBY_NULLS_LAST
                  use_op location
GroupingSet       kind=GROUPING_SET_EMPTY|GROUPING_SET_ROLLUP|GROUPING_SET_CUBE|GROUPING_SET_SETS content location
GroupingFunc      args location
`

// kind says what a message of one kind may hold: a field for each of its descriptor, by
// its index there.
type kind struct {
	all    bool // any field
	fields []field
	check  func(proto.Message) *refusal.Refusal // what the table can't say; nil for nothing
}

// field says what one field may hold. The zero field must be empty.
type field struct {
	any    bool
	nulls  bool // a list may hold an empty entry
	mask   int64
	values []protoreflect.Value
}

// newKinds reads the allow-list against the descriptors of the parser's messages.
func newKinds() (map[protoreflect.Name]*kind, error) { return readKinds(understood) }

// readKinds reads a table of that form.
func readKinds(table string) (map[protoreflect.Name]*kind, error) {
	messages := (&pg.ParseResult{}).ProtoReflect().Descriptor().ParentFile().Messages()
	checks := checks()
	kinds := map[protoreflect.Name]*kind{}
	var name protoreflect.Name
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) > 0 && !strings.HasPrefix(line, " ") {
			name, words = protoreflect.Name(words[0]), words[1:]
			d := messages.ByName(name)
			if d == nil || kinds[name] != nil {
				return nil, fmt.Errorf("the parser has no kind %s, or it is listed twice", name)
			}
			kinds[name] = &kind{fields: make([]field, d.Fields().Len()), check: checks[name]}
		}
		for _, word := range words {
			if err := kinds[name].add(messages.ByName(name), word); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return kinds, nil
}

// add reads one word of the table.
func (k *kind) add(d protoreflect.MessageDescriptor, word string) error {
	if word == "*" {
		k.all = true
		return nil
	}
	end := strings.IndexAny(word+"=", "=&")
	fd := d.Fields().ByName(protoreflect.Name(word[:end]))
	if fd == nil {
		return fmt.Errorf("there is no field %s", word[:end])
	}
	f, rest := &k.fields[fd.Index()], word[end:]
	switch {
	case rest == "":
		if fd.Kind() == protoreflect.EnumKind {
			return fmt.Errorf("the values of %s must be listed", word)
		}
		f.any = true
	case rest == "=null":
		f.any, f.nulls = true, true
	case rest[0] == '&':
		var err error
		f.mask, err = strconv.ParseInt(rest[1:], 0, 32)
		return err
	default:
		for _, value := range strings.Split(rest[1:], "|") {
			v, err := valueOf(fd, value)
			if err != nil {
				return err
			}
			f.values = append(f.values, v)
		}
	}
	return nil
}

func valueOf(fd protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	switch fd.Kind() {
	case protoreflect.EnumKind:
		if v := fd.Enum().Values().ByName(protoreflect.Name(text)); v != nil {
			return protoreflect.ValueOfEnum(v.Number()), nil
		}
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(text == "true"), nil
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), nil
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(text, 10, 32)
		return protoreflect.ValueOfInt32(int32(n)), err
	}
	return protoreflect.Value{}, fmt.Errorf("%s has no value %s", fd.Name(), text)
}

// odd gives the name of the first field of m that holds what is not understood; "" for none.
func (k *kind) odd(message proto.Message) protoreflect.Name {
	m := message.ProtoReflect()
	if len(m.GetUnknown()) > 0 {
		return "a field of a later release"
	}
	empty := AnyChild(message, holdsNothing)
	list := m.Descriptor().Fields()
	for i := 0; i < list.Len() && !k.all; i++ {
		var f field // of a descriptor that has more fields than the one that the table was read against
		if i < len(k.fields) {
			f = k.fields[i]
		}
		if fd := list.Get(i); !f.admits(m, fd, empty) {
			return fd.Name()
		}
	}
	return ""
}

// admits judges one field of m; empty is false if no field of m has an empty entry.
func (f *field) admits(m protoreflect.Message, fd protoreflect.FieldDescriptor, empty bool) bool {
	switch {
	case f.any:
		return !empty || f.nulls || !hasEmpty(m, fd)
	case f.mask != 0:
		return m.Get(fd).Int()&^f.mask == 0
	case len(f.values) > 0:
		return slices.ContainsFunc(f.values, m.Get(fd).Equal)
	}
	return !m.Has(fd)
}

// holdsNothing tells a Node that holds nothing, where Postgres has a null pointer.
func holdsNothing(m proto.Message) bool {
	n, ok := m.(*pg.Node)
	return ok && n.GetNode() == nil
}

// hasEmpty tells whether a field has an empty entry.
func hasEmpty(m protoreflect.Message, fd protoreflect.FieldDescriptor) bool {
	if fd.Kind() != protoreflect.MessageKind || fd.Message().Oneofs().Len() == 0 || !m.Has(fd) {
		return false
	}
	if !fd.IsList() {
		return holdsNothing(m.Get(fd).Message().Interface())
	}
	for i, list := 0, m.Get(fd).List(); i < list.Len(); i++ {
		if holdsNothing(list.Get(i).Message().Interface()) {
			return true
		}
	}
	return false
}
