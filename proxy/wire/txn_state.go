package wire

import "github.com/tenantgate/tenantgate/proxy"

// txState is where a client's transaction stands, for the client and for the link. The zero value is
// that there is none.
type txState uint8

// The states. In the last four the client is in a block: it has said BEGIN.
const (
	txNone     txState = iota
	txImplicit         // the link has one open that ends with the next Sync
	txNamed            // the same, but it was begun by name: for the database it is a block
	txBegun            // the link has not heard of the block yet
	txOpen             // the link has it open
	txFailed           // it has failed: the link has it open until the client ends it or goes back to a savepoint
	txLost             // it has failed, and the link has none open
	numTxStates
)

// txEvent is what changes the state.
type txEvent uint8

const (
	txBegin     txEvent = iota // the client says BEGIN
	txAdopt                    // its BEGIN comes behind an implicit transaction, which the link has made a block
	txSend                     // an exchange goes to the link
	txSendNamed                // the same, with a BEGIN in front of an implicit transaction
	txStays                    // every step of the exchange was done, and the link has a transaction open
	txIdles                    // the same, and it has none
	txBreaks                   // a step has failed, or was refused, and the link has the block open if it had
	txLoses                    // a step has failed, or the client is known no more, and the link has none open
	txGoesBack                 // to a savepoint
	txEnds                     // the transaction was committed or rolled back
	numTxEvents
)

// txTable gives the next state by event and state. Where nothing changes it says the state itself: so every
// event has an answer in every state, and nobody has to know which can come when.
//
//	txNone      txImplicit  txNamed  txBegun   txOpen    txFailed  txLost
var txTable = [numTxEvents][numTxStates]txState{
	txBegin:     {txBegun, txImplicit, txNamed, txBegun, txOpen, txFailed, txLost},
	txAdopt:     {txOpen, txOpen, txOpen, txOpen, txOpen, txFailed, txLost},
	txSend:      {txNone, txImplicit, txNamed, txOpen, txOpen, txFailed, txFailed},
	txSendNamed: {txNamed, txNamed, txNamed, txOpen, txOpen, txFailed, txFailed},
	txStays:     {txImplicit, txImplicit, txNamed, txBegun, txOpen, txFailed, txLost},
	txIdles:     {txNone, txNone, txNone, txBegun, txOpen, txFailed, txLost},
	txBreaks:    {txNone, txNone, txNone, txLost, txFailed, txFailed, txLost},
	txLoses:     {txNone, txNone, txNone, txLost, txLost, txLost, txLost},
	txGoesBack:  {txNone, txImplicit, txNamed, txBegun, txOpen, txOpen, txLost},
	txEnds:      {},
}

func (s *txState) on(e txEvent) { *s = txTable[e][*s] }

// block tells whether the client has begun a transaction and not ended it.
func (s txState) block() bool { return s >= txBegun }

// failed tells whether the client can only end the block or go back to a savepoint.
func (s txState) failed() bool { return s == txFailed || s == txLost }

// implicit tells whether a transaction is open that ends with the next Sync.
func (s txState) implicit() bool { return s == txImplicit || s == txNamed }

// any tells whether a transaction is open, for the client or for the link.
func (s txState) any() bool { return s != txNone }

// linked tells whether the link has a transaction open.
func (s txState) linked() bool { return s.implicit() || s == txOpen || s == txFailed }

// told is the state that the client sees.
func (s txState) told() proxy.State {
	switch {
	case s.failed():
		return proxy.Failed
	case s.block():
		return proxy.Open
	}
	return proxy.Idle
}
