package statement

// Tables is the proof's schema: the bundled tables and some whose scope columns, keys,
// types and indexes differ from theirs. proof/schema.sql makes those; the two must agree,
// which a test of package proof sees to.
func Tables() []*Table { return append(bundled(), others()...) }

// bundled are the tables that a platform without any of its own gets.
func bundled() []*Table {
	return []*Table{
		{Schema: "public", Name: "end_users", ScopeType: Text, Key: []string{"server_id", "id"}, Primary: true, Rows: 11, Columns: []Column{
			{Name: "id", Type: Text, Kind: ID, Default: true, Volatile: true}, {Name: "server_id", Type: Text, Kind: Scope},
			{Name: "external_user_id", Type: Text, Kind: Digits, Default: true}, {Name: "username", Type: Text, Kind: Name, Default: true},
			{Name: "name", Type: Text, Kind: Name, Default: true}, {Name: "email", Type: Text, Kind: ID, Default: true},
			{Name: "phone_number", Type: Text, Kind: Mark, Null: true}, {Name: "password_hash", Type: Text, Kind: Name, Null: true, Hidden: true},
			{Name: "created_at", Type: Time, Kind: Moment, Default: true, Volatile: true}, {Name: "updated_at", Type: Time, Kind: Moment, Default: true, Volatile: true},
		}},
		{Schema: "public", Name: "conversations", ScopeType: Text, Key: []string{"server_id", "id"}, Primary: true, Rows: 11, Columns: []Column{
			{Name: "id", Type: Text, Kind: ID, Default: true, Volatile: true}, {Name: "server_id", Type: Text, Kind: Scope},
			{Name: "end_user_id", Type: Text, Kind: Ref, To: "end_users", Null: true}, {Name: "title", Type: Text, Kind: Name, Default: true},
			{Name: "created_at", Type: Time, Kind: Moment, Default: true, Volatile: true}, {Name: "updated_at", Type: Time, Kind: Moment, Default: true, Volatile: true},
		}},
		{Schema: "public", Name: "messages", ScopeType: Text, Key: []string{"server_id", "id"}, Primary: true, Rows: 15, Columns: []Column{
			{Name: "id", Type: Text, Kind: ID, Default: true, Volatile: true}, {Name: "server_id", Type: Text, Kind: Scope},
			{Name: "conversation_id", Type: Text, Kind: Ref, To: "conversations"}, {Name: "role", Type: Text, Kind: Mark, Default: true},
			{Name: "content", Type: Text, Kind: Name, Default: true}, {Name: "metadata", Type: JSON, Kind: Object, Default: true},
			{Name: "created_at", Type: Time, Kind: Moment, Default: true, Volatile: true},
		}},
		{Schema: "public", Name: "files", ScopeType: Text, Key: []string{"server_id", "id"}, Primary: true, Rows: 10, Columns: []Column{
			{Name: "id", Type: Text, Kind: ID, Default: true, Volatile: true}, {Name: "server_id", Type: Text, Kind: Scope},
			{Name: "end_user_id", Type: Text, Kind: Ref, To: "end_users", Null: true}, {Name: "conversation_id", Type: Text, Kind: Ref, To: "conversations", Null: true},
			{Name: "name", Type: Text, Kind: Name, Default: true}, {Name: "content_type", Type: Text, Kind: Document, Default: true},
			{Name: "size_bytes", Type: Big, Kind: Large, Default: true}, {Name: "storage_key", Type: Text, Kind: Day, Null: true},
			{Name: "created_at", Type: Time, Kind: Moment, Default: true, Volatile: true},
		}},
	}
}

// others are the tables of proof/schema.sql.
func others() []*Table {
	return []*Table{
		{Schema: "shop", Name: "items", ScopeType: Big, Key: []string{"tenant", "sku"}, Primary: true, Rows: 12, Columns: []Column{
			{Name: "sku", Type: Text, Kind: ID}, {Name: "n", Type: Int, Kind: Small, Default: true}, {Name: "tenant", Type: Big, Kind: Scope},
			{Name: "price", Type: Numeric, Kind: Amount, Null: true}, {Name: "tags", Type: Texts, Kind: Words, Null: true}, {Name: "attrs", Type: JSON, Kind: Object, Default: true},
			{Name: "day", Type: Date, Kind: When, Null: true}, {Name: "twice", Type: Big, Kind: Twice, Fixed: true, Null: true},
		}},
		{Schema: "shop", Name: "orders", ScopeType: Big, Key: []string{"tenant", "year", "no"}, Primary: true, Rows: 14, Columns: []Column{
			{Name: "year", Type: Int, Kind: Small}, {Name: "no", Type: Int, Kind: ID}, {Name: "sku", Type: Text, Kind: Ref, To: "items", Null: true},
			{Name: "tenant", Type: Big, Kind: Scope}, {Name: "qty", Type: Int, Kind: Small, Null: true}, {Name: "note", Type: Text, Kind: Name, Null: true},
			{Name: "placed", Type: Time, Kind: Moment, Null: true}, {Name: "doc", Type: Bytes, Kind: Octets, Null: true}, {Name: "sizes", Type: Ints, Kind: Numbers, Null: true},
		}},
		{Schema: "public", Name: "notes", ScopeType: UUID, Key: []string{"owner", "id"}, Rows: 12, Columns: []Column{
			{Name: "id", Type: Big, Kind: ID}, {Name: "title", Type: Text, Kind: Name, Null: true}, {Name: "owner", Type: UUID, Kind: Scope, Null: true},
			{Name: "code", Type: Text, Kind: Code, Null: true}, {Name: "pattern", Type: Text, Kind: Name, Default: true}, {Name: "done", Type: Bool, Kind: Flag, Null: true},
			{Name: "token", Type: UUID, Kind: Token128, Null: true}, {Name: "body", Type: Text, Kind: Digits, Null: true}, {Name: "n", Type: Int, Kind: Small, Null: true},
		}},
		{Schema: "public", Name: "events", ScopeType: Text, Key: []string{"server_id", "id", "day"}, Primary: true, Rows: 13, Columns: []Column{
			{Name: "id", Type: Big, Kind: ID}, {Name: "day", Type: Date, Kind: When}, {Name: "server_id", Type: Text, Kind: Scope},
			{Name: "kind", Type: Text, Kind: Name, Default: true}, {Name: "payload", Type: JSON, Kind: Object, Null: true}, {Name: "weight", Type: Float, Kind: Weight, Null: true},
			{Name: "n", Type: Int, Kind: Small, Null: true},
		}},
		{Schema: "public", Name: "Tag List", ScopeType: Text, Key: []string{"Server Id", "Key"}, Primary: true, Rows: 10, Columns: []Column{
			{Name: "Key", Type: Text, Kind: ID}, {Name: "val", Type: Text, Kind: Name, Null: true}, {Name: "Server Id", Type: Text, Kind: Scope},
			{Name: "order", Type: Int, Kind: Small, Default: true}, {Name: "code", Type: Text, Kind: Code, Null: true},
		}},
		{Schema: "public", Name: "profiles", ScopeType: Text, Key: []string{"server_id", "handle"}, Rows: 11, Columns: []Column{
			{Name: "server_id", Type: Text, Kind: Scope}, {Name: "handle", Type: Text, Kind: ID}, {Name: "secret", Type: Text, Kind: Name, Null: true, Hidden: true},
			{Name: "rank", Type: Int, Kind: Small, Fixed: true, Null: true, Default: true}, {Name: "digits", Type: Text, Kind: Digits, Null: true}, {Name: "since", Type: Text, Kind: Day, Null: true},
			{Name: "mark", Type: Text, Kind: Mark, Default: true}, {Name: "doc", Type: Text, Kind: Document, Null: true}, {Name: "price", Type: Numeric, Kind: Amount, Null: true},
			{Name: "active", Type: Bool, Kind: Flag, Null: true},
		}},
		{Schema: "public", Name: "countries", Key: []string{"code"}, Primary: true, Rows: 10, Columns: []Column{
			{Name: "code", Type: Text, Kind: ID, Fixed: true}, {Name: "name", Type: Text, Kind: Name, Fixed: true}, {Name: "zone", Type: Int, Kind: Small, Fixed: true},
		}},
	}
}
