package upstream

// The classes of Recorder.UpstreamError.
const (
	classConnect      = "connect"       // no connection could be made
	classPoolWait     = "pool_wait"     // none became free in time
	classBusy         = "busy"          // the server had more than its share at work
	classServerShare  = "server_share"  // none of those that the server may hold did
	classProjectShare = "project_share" // nor of its project's
	classAbandoned    = "abandoned"     // a server's statements go on after their time
	classNetwork      = "network"       // a connection broke, or the database stopped answering
	classShutdown     = "shutdown"      // the database ended a connection
	classReadOnly     = "read_only"     // the database takes no writes: it is no longer the primary
	classStale        = "stale"         // a prepared statement outlived a change of the schema
	classSchema       = "schema"        // a table is not as the plan knew it
	classTimeout      = "timeout"       // a statement ran out of time
	classCancelled    = "cancelled"     // a statement's caller went away
	classTooLarge     = "too_large"     // a result went beyond the limits
	classStatement    = "statement"     // Postgres refused the statement
	classInternal     = "internal"      // a defect of this program
)

// ErrorClasses gives the classes of Recorder.UpstreamError.
func ErrorClasses() []string {
	return []string{
		classConnect, classPoolWait, classAbandoned, classBusy, classServerShare, classProjectShare, classNetwork, classShutdown, classReadOnly, classStale, classSchema,
		classTimeout, classCancelled, classTooLarge, classStatement, classInternal,
	}
}
