"""Boards: tables that people read and cite."""
