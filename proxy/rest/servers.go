package rest

import "github.com/tenantgate/tenantgate/proxy"

// createServer answers 4.2.
func (s *Server) createServer(r *request) error {
	if err := r.manageProject(); err != nil {
		return err
	}
	name, description, err := r.readServer()
	if err != nil {
		return err
	}
	if name == nil {
		return invalid(`member "name" is required`)
	}
	if description == nil {
		description = new(string)
	}
	ctx := r.storeContext() // it begins here: a body may take its time
	defer ctx.end()
	server, key, err := s.cfg.Servers.CreateServer(ctx, r.projectID, *name, *description)
	if err != nil {
		return err
	}
	r.reached = server.ID
	return r.send(append(appendCreated(append(r.buffer(), `{"server":`...), server, key), '}'))
}

// updateServer answers 4.3. What the body does not name stays as it is.
func (s *Server) updateServer(r *request) error {
	if err := r.manageServer(); err != nil {
		return err
	}
	name, description, err := r.readServer()
	if err != nil {
		return err
	}
	if name == nil && description == nil {
		return s.sendServer(r)
	}
	ctx := r.storeContext()
	defer ctx.end()
	server, err := s.cfg.Servers.UpdateServer(ctx, r.projectID, r.serverID, name, description)
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
