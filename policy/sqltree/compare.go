package sqltree

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// compare demands that two messages are of one kind and have equal fields, except
// those that only say where in the text something stands and those in except. What
// the messages hold is compared by message.
func compare(a, b protoreflect.Message, message func(a, b protoreflect.Message) error, except ...protoreflect.Name) error {
	if a.Descriptor() != b.Descriptor() {
		return fmt.Errorf("%s became %s", a.Descriptor().Name(), b.Descriptor().Name())
	}
	var err error
	// By the fields that are set: a Node has hundreds, of which one is.
	a.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !isLocation(fd.Name()) && !slices.Contains(except, fd.Name()) {
			err = compareField(fd, a, b, message)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	b.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !a.Has(fd) && !isLocation(fd.Name()) && !slices.Contains(except, fd.Name()) {
			err = fmt.Errorf("%s of %s appeared", fd.Name(), a.Descriptor().Name())
		}
		return err == nil
	})
	return err
}

// exactly is compare with no allowance for anything.
func exactly(a, b protoreflect.Message) error { return compare(a, b, exactly) }

func isLocation(name protoreflect.Name) bool {
	return name == "location" || name == "stmt_location" || name == "stmt_len"
}

func compareField(fd protoreflect.FieldDescriptor, a, b protoreflect.Message, message func(a, b protoreflect.Message) error) error {
	switch {
	case !b.Has(fd):
		return fmt.Errorf("%s of %s vanished", fd.Name(), a.Descriptor().Name())
	case fd.IsList():
		return compareList(fd, a.Get(fd).List(), b.Get(fd).List(), message)
	case fd.Kind() == protoreflect.MessageKind:
		return message(a.Get(fd).Message(), b.Get(fd).Message())
	case !a.Get(fd).Equal(b.Get(fd)):
		return fmt.Errorf("%s of %s changed", fd.Name(), a.Descriptor().Name())
	}
	return nil
}

func compareList(fd protoreflect.FieldDescriptor, a, b protoreflect.List, message func(a, b protoreflect.Message) error) error {
	if a.Len() != b.Len() || fd.Kind() != protoreflect.MessageKind {
		return fmt.Errorf("the list %s changed", fd.Name())
	}
	for i := 0; i < a.Len(); i++ {
		if err := message(a.Get(i).Message(), b.Get(i).Message()); err != nil {
			return err
		}
	}
	return nil
}
