package rest

import (
	"context"
	"errors"

	"github.com/tenantgate/tenantgate/proxy"
)

// createServer answers 4.2.
func (s *Server) createServer(r *request) error {
	if err := r.manageProject(); err != nil {
		return err
	}
	given, err := r.readServer(createMembers)
	if err != nil {
		return err
	}
	if given.name == nil {
		return invalid(`member "name" is required`)
	}
	ctx := r.storeContext() // it begins here: a body may take its time
	defer ctx.end()
	server, key, err := s.makeServer(ctx, r.projectID, given)
	if err != nil {
		return err
	}
	r.reached = server.ID
	return r.send(append(appendCreated(append(r.buffer(), `{"server":`...), server, key), '}'))
}

// makeServer makes a server with the id that is given, else with one that is made.
func (s *Server) makeServer(ctx context.Context, projectID string, given fields) (server proxy.Server, key string, err error) {
	description := ""
	if given.description != nil {
		description = *given.description
	}
	if given.id == nil {
		server, key, err = s.cfg.Servers.CreateServer(ctx, projectID, *given.name, description)
	} else {
		server, key, err = s.cfg.Servers.CreateServerWithID(ctx, projectID, *given.id, *given.name, description)
	}
	if e, told := errors.AsType[*proxy.Error](err); told && e.Code == proxy.InvalidRequest { // the other members were checked
		ofID := *e
		ofID.Message = `member "id": ` + e.Message
		err = &ofID
	}
	return server, key, err
}

// updateServer answers 4.3. What the body does not name stays as it is.
func (s *Server) updateServer(r *request) error {
	if err := r.manageServer(); err != nil {
		return err
	}
	given, err := r.readServer(updateMembers)
	if err != nil {
		return err
	}
	if given.name == nil && given.description == nil {
		return s.sendServer(r)
	}
	ctx := r.storeContext()
	defer ctx.end()
	server, err := s.cfg.Servers.UpdateServer(ctx, r.projectID, r.serverID, given.name, given.description)
	if err != nil {
		return err
	}
	return r.send(append(appendServer(append(r.buffer(), `{"server":`...), server), '}'))
}

// getServer answers 4.5.
func (s *Server) getServer(r *request) error {
	if err := r.manageServer(); err != nil {
		return err
	}
	if err := r.negotiate(false); err != nil {
		return err
	}
	if err := r.parameters(); err != nil {
		return err
	}
	return s.sendServer(r)
}

// sendServer reads the store, not the gate: its answer may be a second old.
func (s *Server) sendServer(r *request) error {
	ctx := r.storeContext()
	defer ctx.end()
	server, err := s.cfg.Servers.GetServer(ctx, r.projectID, r.serverID)
	if err != nil {
		return err
	}
	return r.send(append(appendServer(append(r.buffer(), `{"server":`...), server), '}'))
}

// manageProject lets only those on who may manage the path's project.
func (r *request) manageProject() error {
	ctx := r.storeContext()
	defer ctx.end()
	caller, err := r.reachProject(ctx)
	if err != nil {
		return err
	}
	return r.need(caller, proxy.Manage)
}

// manageServer does the same for the path's server.
func (r *request) manageServer() error {
	ctx := r.storeContext()
	defer ctx.end()
	caller, _, err := r.reachServer(ctx)
	if err != nil {
		return err
	}
	return r.need(caller, proxy.Manage)
}
