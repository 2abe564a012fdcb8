"""A parcel depot: a small tool domain that ships whole."""
