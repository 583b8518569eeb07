package frame

// The types of the messages that a server sends.
const (
	AuthenticationRequest = 'R'
	BackendKeyData        = 'K'
	BindComplete          = '2'
	CloseComplete         = '3'
	CommandComplete       = 'C'
	CopyInResponse        = 'G'
	CopyOutResponse       = 'H'
	DataRow               = 'D'
	EmptyQueryResponse    = 'I'
	ErrorResponse         = 'E'
	NegotiateVersion      = 'v'
	NoData                = 'n'
	NoticeResponse        = 'N'
	NotificationResponse  = 'A'
	ParameterDescription  = 't'
	ParameterStatus       = 'S'
	ParseComplete         = '1'
	PortalSuspended       = 's'
	ReadyForQuery         = 'Z'
	RowDescription        = 'T'
)

// The types of the messages that a client sends.
const (
	Bind         = 'B'
	Close        = 'C'
	CopyFail     = 'f'
	Describe     = 'D'
	Execute      = 'E'
	Flush        = 'H'
	FunctionCall = 'F'
	Parse        = 'P'
	Password     = 'p' // SASLInitialResponse and SASLResponse, too
	Query        = 'Q'
	Sync         = 'S'
	Terminate    = 'X'
)

// The types of the messages that both send.
const (
	CopyData = 'd'
	CopyDone = 'c'
)

// What a Close or a Describe is about.
const (
	Portal    = 'P'
	Statement = 'S'
)

// head is the length of a message's type and length, in bytes.
const head = 5
